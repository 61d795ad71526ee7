import{a,b,c,d}from"./chunk-YQ4M4LCH.js";import"./chunk-RTLDYI6P.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
