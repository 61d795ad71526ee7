import{a,b,c,d}from"./chunk-BYTWJF7I.js";import"./chunk-LD2MDBFH.js";import"./chunk-QNPRWGWE.js";import"./chunk-6AMNRAYM.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
