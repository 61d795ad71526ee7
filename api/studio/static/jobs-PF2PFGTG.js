import{c as a,d as b,e as c,f as d,g as e}from"./chunk-YMQLVU3E.js";import"./chunk-RYY5SEJV.js";export{e as Findings,b as Jobs,a as STATUSES,d as Status,c as StatusChoice};
