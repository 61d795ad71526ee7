import{a,b,c,d}from"./chunk-KEOIR5SK.js";import"./chunk-JJKPSCWJ.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
