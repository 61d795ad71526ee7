import{a,b,c,d}from"./chunk-D6U4OAOS.js";import"./chunk-NZJTGGM7.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
