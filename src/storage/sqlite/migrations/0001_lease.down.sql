DROP TABLE leasehold_boot;
DROP TABLE leasehold_event;
DROP TABLE leasehold_lease;
