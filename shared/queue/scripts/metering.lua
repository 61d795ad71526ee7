-- Metering, included by the scripts that end work; not run by itself.
--
-- `check_events` reads and compares, `record_events` writes; a script calls the second after all
-- comparisons, so that it writes all or nothing.
--
-- events: a list of pages, processor time in microseconds and event text of each document, the text '' for
-- one that is not metered.
-- cap, cpu_cap: limits of the account, of pages of the allowance and of processor time of both allowances, '' for
-- none. The document that exceeds one still counts: a render is refused only if it was reached before it.

-- Return the pages of an allowance and the processor time of both that an account has used.
local function find_spent(counters, allowance)
    local used = redis.call('HMGET', counters, allowance .. ':pages', 'production:cpu', 'draft:cpu')
    return tonumber(used[1] or '0'), tonumber(used[2] or '0') + tonumber(used[3] or '0')
end

-- Return a verdict for each event ('' if it counts, else pages and processor time used before it, as '12:3400'),
-- and the sums of the counted ones: {verdicts, pages, cpu, calls, texts}.
local function check_events(counters, allowance, cap, cpu_cap, events)
    local pages, cpu = find_spent(counters, allowance)
    local checked = {verdicts = {}, pages = 0, cpu = 0, calls = 0, texts = {}}
    for i = 1, #events, 3 do
        local verdict = ''
        if events[i + 2] ~= '' then
            local before, cpu_before = pages + checked.pages, cpu + checked.cpu
            if (cap ~= '' and before >= tonumber(cap)) or (cpu_cap ~= '' and cpu_before >= tonumber(cpu_cap)) then
                verdict = string.format('%.0f:%.0f', before, cpu_before)
            else
                checked.pages = checked.pages + tonumber(events[i])
                checked.cpu = checked.cpu + tonumber(events[i + 1])
                checked.calls = checked.calls + 1
                checked.texts[checked.calls] = events[i + 2]
            end
        end
        checked.verdicts[#checked.verdicts + 1] = verdict
    end
    return checked
end

-- Increment the account's counters and append the counted events to the usage stream.
local function record_events(counters, stream, allowance, checked, counter_ttl)
    if checked.calls == 0 then return end
    redis.call('HINCRBY', counters, allowance .. ':pages', checked.pages)
    redis.call('HINCRBY', counters, allowance .. ':calls', checked.calls)
    redis.call('HINCRBY', counters, allowance .. ':cpu', checked.cpu)
    redis.call('EXPIRE', counters, counter_ttl)
    for _, text in ipairs(checked.texts) do redis.call('XADD', stream, '*', 'event', text) end
end
