import{a,b,c,d}from"./chunk-7PA7MPYN.js";import"./chunk-QJ7PQJON.js";import"./chunk-6FQUF2SA.js";import"./chunk-ZWNM4EX7.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
