import{a,b,c,d}from"./chunk-5YIWMRZW.js";import"./chunk-C4ETUDJ4.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
