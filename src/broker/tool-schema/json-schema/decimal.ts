/** A number as the decimal that JSON writes: `units` × 10 ^ `exponent`. */
interface Decimal {
  units: bigint;
  exponent: number;
}

/**
 * Whether a number is a multiple of another by the decimals in which they are written, as 0.3 is of 0.1: the quotient of the binary
 * numbers is 2.9999999999999996.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  const [a, b] = [decimalOf(value), decimalOf(divisor)];
  const exponent = Math.min(a.exponent, b.exponent);
  return scaled(a, exponent) % scaled(b, exponent) === 0n;
}

function decimalOf(value: number): Decimal {
  const [digits = '', power = '0'] = value.toString().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  return { units: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}

function scaled({ units, exponent }: Decimal, to: number): bigint {
  return units * 10n ** BigInt(exponent - to);
}
