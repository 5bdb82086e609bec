"""Events as columns, and what every stage shares about them: groups, intake, watermark."""
