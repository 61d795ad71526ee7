// Fills in the form of /form.pdf in pdf.js; runs in a page whose server has the library at /pdf.mjs.
async (values) => {
  const { getDocument, GlobalWorkerOptions } = await import("/pdf.mjs");
  GlobalWorkerOptions.workerSrc = "/pdf.worker.mjs";
  const document = await getDocument({ url: "/form.pdf" }).promise;
  const fields = (await document.getFieldObjects()) ?? {};
  const found = {};
  for (const [name, widgets] of Object.entries(fields)) {
    // A group of radio buttons has an object of its own, before its widgets.
    const shown = widgets.filter((widget) => widget.type);
    found[name] = shown.map((widget) => [widget.type, widget.value]);
    for (const widget of shown) {
      if (!(name in values)) continue;
      const value = values[name];
      const isButton = widget.type === "checkbox" || widget.type === "radiobutton";
      document.annotationStorage.setValue(widget.id, {
        value: isButton ? value === widget.exportValues : value,
      });
    }
  }
  return [found, Array.from(await document.saveDocument())];
};
