import{a,b,c,d}from"./chunk-2NAUWVGE.js";import"./chunk-TI6SUN5O.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
