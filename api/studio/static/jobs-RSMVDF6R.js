import{c as a,d as b,e as c,f as d,g as e}from"./chunk-YNMPEQUT.js";import"./chunk-NZJTGGM7.js";export{e as Findings,b as Jobs,a as STATUSES,d as Status,c as StatusChoice};
