/** The difference of two images, pixel by pixel. */

const THRESHOLD = 24; // of 255; less is no difference that one sees
const FADED = 0.3;
// Of what the older page has and the newer has not, and the reverse.
const REMOVED = [179, 38, 30] as const;
const ADDED = [31, 95, 191] as const;

export interface PixelDifference {
  image: ImageData;
  changed: number;
}

/** Return the newer image, faded, with changed pixels coloured; a missing image is white. */
export function comparePixels(before: ImageData | null, after: ImageData | null): PixelDifference {
  const width = Math.max(before?.width ?? 1, after?.width ?? 1);
  const height = Math.max(before?.height ?? 1, after?.height ?? 1);
  const image = new ImageData(width, height);
  let changed = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const old = lightness(before, x, y);
      const now = lightness(after, x, y);
      const at = 4 * (y * width + x);
      image.data[at + 3] = 255;
      if (differ(before, after, x, y)) {
        changed += 1;
        image.data.set(old < now ? REMOVED : ADDED, at);
      } else {
        image.data.fill(255 - FADED * (255 - now), at, at + 3);
      }
    }
  }
  return { image, changed };
}

function differ(one: ImageData | null, other: ImageData | null, x: number, y: number): boolean {
  for (let channel = 0; channel < 3; channel++) {
    if (Math.abs(sample(one, x, y, channel) - sample(other, x, y, channel)) > THRESHOLD) return true;
  }
  return false;
}

function sample(image: ImageData | null, x: number, y: number, channel: number): number {
  if (!image || x >= image.width || y >= image.height) return 255;
  return image.data[4 * (y * image.width + x) + channel] ?? 255;
}

function lightness(image: ImageData | null, x: number, y: number): number {
  return 0.3 * sample(image, x, y, 0) + 0.59 * sample(image, x, y, 1) + 0.11 * sample(image, x, y, 2);
}

export async function decodeImage(blob: Blob): Promise<ImageData> {
  const bitmap = await createImageBitmap(blob);
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("no canvas");
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, canvas.width, canvas.height);
}
