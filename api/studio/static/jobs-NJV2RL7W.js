import{c as a,d as b,e as c,f as d,g as e}from"./chunk-ROL3I7QL.js";import"./chunk-KEBZ37KO.js";export{e as Findings,b as Jobs,a as STATUSES,d as Status,c as StatusChoice};
