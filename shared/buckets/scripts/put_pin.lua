-- Keep what a name of an owner stands for, unless a change began a moment ago.
--
-- KEYS: 1 pins of the owner
-- ARGV: 1 name, 2 what it stands for, 3 time to live in seconds, 4 most pins of one owner
-- Returns: 1 where it is kept, else 0
-- Atomic: a state read before a change must not be kept after it.
if redis.call('HEXISTS', KEYS[1], '') == 1 then return 0 end
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if redis.call('TTL', KEYS[1]) < 0 then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
return 1
