import{a,b,c,d}from"./chunk-3ZAIFTEC.js";import"./chunk-VO6VR7PE.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
