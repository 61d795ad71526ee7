import{a,b,c,d}from"./chunk-G3CQEXOO.js";import"./chunk-RYY5SEJV.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
