import{a,b,c,d}from"./chunk-S7JJB66Q.js";import"./chunk-KEBZ37KO.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
