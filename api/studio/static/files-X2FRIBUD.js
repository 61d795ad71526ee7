import{a,b,c,d}from"./chunk-M5Z25ORS.js";import"./chunk-6PSQEOUG.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
