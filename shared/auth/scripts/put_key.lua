-- Cache the state of a key, unless the key was just invalidated.
--
-- KEYS: 1 cached state of the key
-- ARGV: 1 time to live in seconds, 2 state, 3 account, 4 renewal day
-- Returns: 1 if it was cached, else 0
-- Atomic: a state read before a change must not be cached after it.
if redis.call('HEXISTS', KEYS[1], 'dropped') == 1 then return 0 end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'account', ARGV[3], 'renewal', ARGV[4])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
