/** Pictures as files: drawn elements as SVG, painted ones as PNG, and either as PNG. */
import { download } from '../actions';

/** What a drawing takes from the style sheet, which its file has to bring along. */
const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'opacity',
  'font-size',
  'font-family',
  'font-weight',
  'text-anchor',
  'dominant-baseline',
];

/** Sharp on a screen with two points a pixel. */
const PNG_SCALE = 2;

export async function savePicture(body: HTMLElement, name: string, kind: 'svg' | 'png'): Promise<void> {
  const canvas = body.querySelector('canvas');
  const drawing = body.querySelector('svg');
  if (canvas) {
    if (kind === 'png') return saveCanvas(canvas, name);
    return download(`${name}.svg`, wrapped(canvas), 'image/svg+xml');
  }
  if (!drawing) return;
  const text = standalone(drawing);
  if (kind === 'svg') return download(`${name}.svg`, text, 'image/svg+xml');
  const box = drawing.getBoundingClientRect();
  const image = new Image();
  const url = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  try {
    image.src = url;
    await image.decode();
    const target = document.createElement('canvas');
    target.width = Math.ceil(box.width * PNG_SCALE);
    target.height = Math.ceil(box.height * PNG_SCALE);
    target.getContext('2d')?.drawImage(image, 0, 0, target.width, target.height);
    await saveCanvas(target, name);
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function saveCanvas(canvas: HTMLCanvasElement, name: string): Promise<void> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (blob) download(`${name}.png`, blob);
}

/** An SVG that looks the same without the page. */
function standalone(drawing: SVGSVGElement): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [from, to] = [drawing.querySelectorAll<SVGElement>('*'), copy.querySelectorAll<SVGElement>('*')];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value && !(name === 'fill' && element.getAttribute('fill')?.startsWith('url(')))
        to[i]?.setAttribute(name, value);
    }
    to[i]?.removeAttribute('class');
  });
  const { width, height } = drawing.getBoundingClientRect();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('viewBox', `0 0 ${width} ${height}`);
  copy.removeAttribute('class');
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  paper.setAttribute('width', '100%');
  paper.setAttribute('height', '100%');
  paper.setAttribute('fill', getComputedStyle(document.documentElement).getPropertyValue('--paper').trim());
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

function wrapped(canvas: HTMLCanvasElement): string {
  const { width, height } = canvas;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><image width="${width}" height="${height}" href="${canvas.toDataURL('image/png')}"/></svg>`;
}
