DROP VIEW leasehold_claims;
DROP VIEW leasehold_items;
DROP VIEW leasehold_sessions;
DROP TABLE leasehold_claim;
DROP TABLE leasehold_item_conflict;
DROP TABLE leasehold_item;
DROP TABLE leasehold_session;
