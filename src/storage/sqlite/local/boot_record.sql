INSERT INTO leasehold_boot (boot_id, machine_id, time_namespace, wall_us, boottime_us, seen)
SELECT :boot_id, :machine_id, :time_namespace, :wall_us, :boottime_us,
       1 + coalesce((SELECT max(seen) FROM leasehold_boot), 0)
