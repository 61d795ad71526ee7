import{c as a,d as b,e as c,f as d,g as e}from"./chunk-2ZG2ZUQG.js";import"./chunk-6PSQEOUG.js";export{e as Findings,b as Jobs,a as STATUSES,d as Status,c as StatusChoice};
