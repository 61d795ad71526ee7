-- Invalidate the pins of an owner, and leave a marker that rejects older ones for a while.
--
-- KEYS: 1 pins of the owner
-- ARGV: 1 time to live of the marker in seconds
-- Returns: nothing
-- Atomic: a pin cached between deletion and marker would stay.
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], '', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
