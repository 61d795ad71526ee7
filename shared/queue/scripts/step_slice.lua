-- Record the next document of a slice, and read whether to stop before it.
--
-- KEYS: 1 state of the chunk, 2 mark that the batch is cancelled, 3 usage counters of the account's period
-- ARGV: 1 time to live of the state in seconds, 2 index of the document and whether the run is careful,
--       3 allowance
-- Returns: {1 if the batch is cancelled, else 0; pages used of the allowance; processor time used of both}
-- Atomic: one round trip before each document instead of three.
--- @include metering

redis.call('HSET', KEYS[1], 'work', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return {redis.call('EXISTS', KEYS[2]), find_spent(KEYS[3], ARGV[3])}
