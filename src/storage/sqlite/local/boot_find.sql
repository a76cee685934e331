SELECT machine_id, time_namespace, wall_us, boottime_us FROM leasehold_boot WHERE boot_id = :boot_id
