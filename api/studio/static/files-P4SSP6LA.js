import{a,b,c,d}from"./chunk-RJT2IDNA.js";import"./chunk-IE7IZPJR.js";import"./chunk-GKH7JNRO.js";import"./chunk-IGG3MZBX.js";export{d as DropZone,b as Fonts,a as Images,c as nameOf};
