import{a,b,c,d}from"./chunk-3QELDO4J.js";import"./chunk-MTHVQUJK.js";import"./chunk-DYCQR6FM.js";import"./chunk-J7PAZPSB.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
