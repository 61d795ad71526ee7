-- List what processes reported of themselves in the last seconds.
--
-- KEYS: 1 reports by name of the process, 2 index of them by when they came
-- ARGV: 1 seconds
-- Returns: the reports
-- Atomic: one that is dropped between index and hash would come back as nothing.
local time = redis.call('TIME')
local found = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], time[1] - ARGV[1], '+inf')) do
    found[#found + 1] = redis.call('HGET', KEYS[1], name)
end
return found
