import{a,b,c,d}from"./chunk-AYIPZK7J.js";import"./chunk-7OSRD4YO.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
