DROP TABLE leasehold_waiter;
DROP TABLE leasehold_lock;
