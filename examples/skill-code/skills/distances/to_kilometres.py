from decimal import Decimal

from skillcell.skills import BaseTool


class ToKilometres(BaseTool):
    name = "to_kilometres"
    description = "Converts miles to kilometres."

    def _run(self, miles: float):
        return float(round(Decimal(str(miles)) * Decimal("1.609344"), self.digits))
