// Reads the text of each page of some files in pdf.js; runs in a page whose server has the library at /pdf.mjs.
async (names) => {
  const { getDocument, GlobalWorkerOptions } = await import("/pdf.mjs");
  GlobalWorkerOptions.workerSrc = "/pdf.worker.mjs";
  const texts = [];
  for (const name of names) {
    const document = await getDocument({ url: `/${name}.pdf` }).promise;
    const pages = Array.from({ length: document.numPages }, async (_, at) => {
      const content = await (await document.getPage(at + 1)).getTextContent();
      return content.items.map((item) => item.str).join(" ");
    });
    texts.push(await Promise.all(pages));
    await document.destroy();
  }
  return texts;
};
