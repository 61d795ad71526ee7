import{a,b,c,d}from"./chunk-LEK3BI75.js";import"./chunk-BO2VDSKN.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
