DROP TABLE leasehold_waiter;
DROP TABLE leasehold_lock_share;
DROP TABLE leasehold_lock;
