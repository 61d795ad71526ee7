-- Acquire a place for a job, or enqueue the job for one.
--
-- KEYS: none, see `places.lua`
-- ARGV: 1 job, 2 account, 3 queue, 4 lease in seconds, 5 slots of the workers, 6 limit of waiting jobs of
--       an account
-- Returns: {'held'}; {'waiting'}, a list wakes its front on a change; {'full', jobs of the
--          account that wait, estimate in seconds until they have their places}
-- Atomic: two concurrent jobs could both acquire the last place.
--- @include places

local job, account, queue = ARGV[1], ARGV[2], ARGV[3]
local now = read_clock()
update_places(ARGV[5], now)
mark_active(account, now)
local place = find_place(job)
if place and place.state ~= 'fetching' then
    redis.call('ZADD', 'places:leases', now + ARGV[4], job)
    return {place.state}
end
local line = 'places:line:' .. account
local waiting = redis.call('LLEN', line)
if waiting == 0 and may_hold(account, now) then
    if place then remove_place(job, place) end
    hold_place(job, now, queue, account)
    redis.call('ZADD', 'places:leases', now + ARGV[4], job)
    return {'held'}
end
if place then
    remove_place(job, place)
else
    local fetching = tonumber(redis.call('HGET', 'places:fetching', account) or '0')
    if waiting + fetching >= tonumber(ARGV[6]) then
        local held = tonumber(redis.call('ZSCORE', 'places:held', account) or '1')
        return {'full', waiting + fetching, math.ceil(waiting * find_seconds(account) / math.max(held, 1))}
    end
end
redis.call('RPUSH', line, job)
if waiting == 0 then take_turn(account) end
write_place(job, 'waiting', now, queue, account)
redis.call('ZADD', 'places:leases', now + ARGV[4], job)
return {'waiting'}
