"""What other rooms may ask the catalog about a store: its products, their names, and what is acknowledged, observed and wanted."""
