"""Small files of an ERP with their right outcomes, written by rules: each dialect with each fault."""
