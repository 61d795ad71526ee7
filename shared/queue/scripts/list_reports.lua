-- List the reports of processes of the last seconds.
--
-- KEYS: 1 reports by name of the process, 2 index of them by time
-- ARGV: 1 seconds
-- Returns: the reports
-- Atomic: a report that is deleted between index and hash would be missing.
local time = redis.call('TIME')
local found = {}
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], time[1] - ARGV[1], '+inf')) do
    found[#found + 1] = redis.call('HGET', KEYS[1], name)
end
return found
