import{a,b,c,d}from"./chunk-33YSGGES.js";import"./chunk-UHNWSSOD.js";import"./chunk-M2RV5AOF.js";import"./chunk-JV536CTF.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
