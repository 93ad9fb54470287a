export const sample: string = 'a type to strip';
