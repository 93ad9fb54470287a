export const loaded: boolean = true;
