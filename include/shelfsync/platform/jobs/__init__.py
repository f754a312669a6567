"""One mechanism for every job of the platform: catalog updates, exports of the assortment, promotions."""
