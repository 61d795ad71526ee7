-- Drop the pins of an owner, and leave a mark that keeps older ones out for a while.
--
-- KEYS: 1 pins of the owner
-- ARGV: 1 seconds that the mark stays
-- Returns: nothing
-- Atomic: a pin that is kept between deletion and mark would stay.
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], '', 1)
redis.call('EXPIRE', KEYS[1], ARGV[1])
