import{d as t}from"./chunk-WYCCWL7X.js";var r=2;function d(e,n){t(()=>{if(!e)return;let o=setInterval(()=>{document.hidden||n()},r*1e3);return()=>clearInterval(o)},[e,n])}export{d as a};
