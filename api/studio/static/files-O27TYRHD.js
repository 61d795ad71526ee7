import{a,b,c,d}from"./chunk-4HVGCR2H.js";import"./chunk-OEQHFDFM.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
