-- Cache the resolved value of an owner's name, unless a change has just started.
--
-- KEYS: 1 pins of the owner, 2 marker of a change of the name, 3 marker of a change of all names
-- ARGV: 1 name, 2 value, 3 time to live in seconds, 4 limit of pins of one owner
-- Returns: 1 if it was cached, else 0
-- Atomic: a value read before a change must not be cached after it.
if redis.call('EXISTS', KEYS[2], KEYS[3]) > 0 then return 0 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
return 1
