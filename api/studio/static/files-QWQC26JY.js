import{a,b,c,d}from"./chunk-C2VGOBDQ.js";import"./chunk-XFPTPWWA.js";import"./chunk-KO27K5VU.js";import"./chunk-6AJB2K22.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
