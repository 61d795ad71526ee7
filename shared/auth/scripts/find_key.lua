-- Return the cached state of a key and the counters of its account's current period.
--
-- KEYS: 1 cached state of the key
-- ARGV: 1..31 start of the current period for each renewal day, 1 to 31
-- Returns: false where nothing is cached; else {state, {pages, calls and processor time of production, those
--          of drafts, seeded}}
-- Atomic: one round trip, though the counters depend on the state. Both are on the account's shard.
local entry = redis.call('HMGET', KEYS[1], 'state', 'account', 'renewal')
if not entry[1] then return false end
local period = ARGV[tonumber(entry[3])]
local used = redis.call('HMGET', 'usage:' .. entry[2] .. ':' .. period,
    'production:pages', 'production:calls', 'production:cpu', 'draft:pages', 'draft:calls', 'draft:cpu',
    'seeded:cpu')
return {entry[1], used}
